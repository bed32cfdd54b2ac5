/**
 * The id of a heading, made as the place makes it where the repository is read: so a link with `#` holds here and there.
 * @param heading - Its text, without marks.
 */
export function headingSlug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
}
