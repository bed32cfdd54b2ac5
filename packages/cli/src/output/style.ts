import { styleText } from 'node:util'

/** Text styles. Without color support, each returns the text unchanged. */
export interface Style {
  readonly strong: (text: string) => string
  readonly faint: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
}

const ansi =
  (format: Parameters<typeof styleText>[0]) =>
  (text: string): string =>
    styleText(format, text, { validateStream: false })
const same = (text: string): string => text

/** No color: for pipes, files and tests. */
export const plain: Style = { strong: same, faint: same, good: same, bad: same }

/** ANSI colors. */
export const colored: Style = { strong: ansi('bold'), faint: ansi('dim'), good: ansi('green'), bad: ansi('red') }

/**
 * Gets the style for a stream: colors on a terminal only, and never with NO_COLOR or TERM=dumb.
 *
 * @see https://no-color.org
 */
export function getStyle(
  stream: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Style {
  return stream.isTTY === true && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb' ? colored : plain
}
