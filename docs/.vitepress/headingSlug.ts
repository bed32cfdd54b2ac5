/**
 * Creates the id of a heading as GitHub does, so that links with `#` work in the repository and on the site.
 * @param heading - The text of the heading, without markup.
 */
export function headingSlug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
}
