// A list box that holds only the rows in sight, so that ten thousand items are as quick as ten.
const ROW = 68;
const SPARE = 6;

class VirtualList {
  /**
   * @param {HTMLElement} box what scrolls; keeps the focus, the rows never have it
   * @param {HTMLElement} sizer as high as all rows together
   * @param {(index: number) => HTMLElement} draw makes a row
   * @param {(place: number) => void} chosen told of each change of the selection
   */
  constructor(box, sizer, draw, chosen) {
    Object.assign(this, { box, sizer, draw, chosen, rows: [], place: 0, frame: 0 });
    box.addEventListener("scroll", () => this.later(), { passive: true });
    new ResizeObserver(() => this.later()).observe(box);
    sizer.addEventListener("click", (event) => {
      const row = event.target.closest("[data-place]");
      if (row) this.select(Number(row.dataset.place), true);
    });
  }

  /** Show other rows; keeps the selected item selected if it is among them. */
  show(rows, keep) {
    this.rows = rows;
    this.place = Math.max(0, rows.indexOf(keep));
    this.sizer.style.height = rows.length * ROW + "px";
    this.box.scrollTop = Math.max(0, this.place * ROW - this.box.clientHeight / 2);
    this.render();
    this.chosen(this.place, false);
  }

  select(place, byPointer = false) {
    if (!this.rows.length) return;
    this.place = Math.min(Math.max(place, 0), this.rows.length - 1);
    const top = this.place * ROW;
    const { scrollTop, clientHeight } = this.box;
    if (top < scrollTop) this.box.scrollTop = top;
    else if (top + ROW > scrollTop + clientHeight) this.box.scrollTop = top + ROW - clientHeight;
    this.render();
    this.chosen(this.place, byPointer);
  }

  get page() {
    return Math.max(1, Math.floor(this.box.clientHeight / ROW) - 1);
  }

  later() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.render());
  }

  render() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - SPARE);
    const last = Math.min(this.rows.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / ROW) + SPARE);
    const drawn = [];
    for (let place = first; place < last; place++) {
      const row = this.draw(this.rows[place]);
      row.id = "row-" + place;
      row.dataset.place = place;
      row.style.top = place * ROW + "px";
      row.setAttribute("role", "option");
      row.setAttribute("aria-selected", place === this.place);
      row.setAttribute("aria-setsize", this.rows.length);
      row.setAttribute("aria-posinset", place + 1);
      drawn.push(row);
    }
    this.sizer.replaceChildren(...drawn);
    if (this.rows.length) this.box.setAttribute("aria-activedescendant", "row-" + this.place);
    else this.box.removeAttribute("aria-activedescendant");
  }
}
