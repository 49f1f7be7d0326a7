// Everything that is shown goes through textContent: no string ever becomes markup.
const block = (id) => JSON.parse(document.getElementById(id).textContent);

/** An element; children are strings (shown as they are) or nodes. */
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const code = (character) => "[U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "]";

/** Nodes of a text in which invisible characters are seen; a run of the same is shown once, with its length. */
function visible(text, odd) {
  const nodes = [];
  let from = 0;
  const runs = new RegExp("(" + odd + ")\\1*", "gu");
  for (const run of text.replace(/\r\n/g, "\n").matchAll(runs)) {
    const whole = run.input;
    if (run.index > from) nodes.push(document.createTextNode(whole.slice(from, run.index)));
    const times = run[0].length / run[1].length;
    const label = code(run[1]) + (times > 1 ? "×" + times.toLocaleString("en") : "");
    nodes.push(el("span", { class: "odd", title: "invisible character" }, label));
    from = run.index + run[0].length;
  }
  const rest = text.replace(/\r\n/g, "\n").slice(from);
  if (rest) nodes.push(document.createTextNode(rest));
  return nodes;
}

/** The same as a plain string, for option labels and accessible names. */
function visibleString(text, odd) {
  return text.replace(new RegExp(odd, "gu"), code).replace(/\s+/g, " ");
}
