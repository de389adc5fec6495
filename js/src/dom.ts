/** The few DOM helpers there are. Every writer compares first: what has not changed is not touched. */

type Attributes = Record<string, string | null>;

/** A new element with attributes and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** A 16 × 16 icon drawn with one path. It says nothing to a screen reader: words beside it do. */
export function makeIcon(name: string, path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  setAttributes(svg, { class: name, viewBox: "0 0 16 16", "aria-hidden": "true" });
  const shape = document.createElementNS(SVG, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

export function setIcon(icon: SVGSVGElement, path: string): void {
  const shape = icon.firstElementChild;
  if (shape !== null) setAttributes(shape, { d: path });
}

export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Text that takes no room while there is none. */
export function setLine(element: HTMLElement, text: string): void {
  setText(element, text);
  setHidden(element, text === "");
}

export function setHidden(element: HTMLElement, hidden: boolean): void {
  if (element.hidden !== hidden) element.hidden = hidden;
}

/** Set attributes; null removes. */
export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (element.getAttribute(name) === value) continue;
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, value);
  }
}

/** A bar with its filled part, as long as the share says. */
export class Bar {
  readonly element: HTMLElement;
  #fill = make("div", { class: "fill" });
  #share = Number.NaN;

  constructor(label: string) {
    this.element = make(
      "div",
      { class: "bar", role: "progressbar", "aria-label": label },
      this.#fill,
    );
  }

  /** `share` is null where nobody knows how far it is; `text` says the same in words. */
  update(share: number | null, text: string, [now, max]: [number, number] = [0, 100]): void {
    setAttributes(this.element, {
      "aria-valuemin": share === null ? null : "0",
      "aria-valuemax": share === null ? null : String(max),
      "aria-valuenow": share === null ? null : String(now),
      "aria-valuetext": text,
    });
    const shown = share === null ? 1 : Math.min(1, Math.max(0, share));
    if (shown !== this.#share) {
      this.#share = shown;
      this.#fill.style.width = `${Math.round(shown * 1000) / 10}%`;
    }
    setAttributes(this.element, { "data-unknown": share === null ? "" : null });
  }

  /** After the end the bars of the rows no longer show progress but shares of the time. */
  measures(role: "progressbar" | "meter", label: string): void {
    setAttributes(this.element, { role, "aria-label": label });
  }
}
