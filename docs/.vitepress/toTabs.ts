const block = '```\\w+ [^\\n]+\\n(?:(?!```)[^\\n]*\\n)*```\\n'
const adjacentBlocks = new RegExp(`^${block}(?:\\n${block})+`, 'gm')

/**
 * Shows adjacent code blocks that have a title after the language, such as `sh npm`, as tabs. Other viewers of Markdown ignore the titles and show
 * the blocks one below the other.
 * @param markdown - The text of a page.
 * @returns The text with the blocks in a code group of VitePress.
 */
export const toTabs = (markdown: string): string =>
  markdown.replaceAll(
    adjacentBlocks,
    (blocks) => `::: code-group\n\n${blocks.replaceAll(/^```(\w+) (.+)$/gm, '```$1 [$2]')}\n:::\n`,
  )
