/**
 * Whether a page is for contributors. Neither the search nor agents get such pages, because they would be between the pages that users look for.
 * @param path - The path of the page in the site.
 */
export const isForContributors = (path: string): boolean =>
  /^(decisions|bench)[/]|^(architecture|contributing|changelog|code_of_conduct)[.]md$/.test(path) ||
  /^packages[/](bench|contracts|vectors|dashboard)[.]md$/.test(path)
