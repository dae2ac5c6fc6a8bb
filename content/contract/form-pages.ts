/** All that the service tells a page that it has drawn for one reader. The site draws it: it has the words and the shape. */
export type FormPage =
  /** `waitS`: seconds until it is worth trying again. `sent`: a form was sent, and the browser still has it. */
  {
    page: "/refusal";
    status: number;
    code: string;
    detail: string;
    waitS: number | null;
    sent: boolean;
  };

/** What one of these pages is told. */
export type FormPageOf<Page extends FormPage["page"]> = Extract<FormPage, { page: Page }>;
