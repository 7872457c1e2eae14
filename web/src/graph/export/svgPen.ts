import type { Pen } from "../drawing/curves";

/** A pen that writes the path of SVG. */
export class SvgPen implements Pen {
  path = "";

  moveTo(x: number, y: number): void {
    this.add("M", x, y);
  }

  lineTo(x: number, y: number): void {
    this.add("L", x, y);
  }

  bezierCurveTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void {
    this.add("C", x1, y1, x2, y2, x, y);
  }

  private add(command: string, ...numbers: number[]): void {
    this.path += command + numbers.map((one) => Math.round(one * 10) / 10).join(" ");
  }
}
