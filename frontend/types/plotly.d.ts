/** The few parts of Plotly that the page uses; the library arrives as a global, from the Python package. */
interface PlotlyElement extends HTMLElement {
  on(event: string, listener: (event: any) => void): void;
  removeAllListeners(event: string): void;
  _fullLayout?: any;
}

declare const Plotly: {
  react(
    element: HTMLElement,
    data: Record<string, unknown>[],
    layout: Record<string, unknown>,
    config?: Record<string, unknown>,
  ): Promise<PlotlyElement>;
  purge(element: HTMLElement): void;
};
