/** The compiled site, resident: renders one page from data, without Vite. */
export type Renderer = {
  /** `route` is the page's path with its parameters filled in, for example /nonprofits/oak-trust. */
  render(route: string, locals: App.Locals): Promise<string>;
};
