import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Markdown } from './siteLinks.ts'

/**
 * Gives images their width and height, so that the text below does not move when they arrive.
 * @param folder - The folder of the pages.
 * @returns A plugin of markdown-it.
 */
export const imageSizes =
  (folder: string) =>
  (markdown: Markdown): void => {
    markdown.core.ruler.push('image-sizes', ({ tokens, env }) => {
      for (const { children } of tokens)
        for (const image of children?.filter(({ type }) => type === 'image') ?? []) {
          const file = join(folder, posix.join(posix.dirname(env.relativePath ?? ''), image.attrGet('src') ?? ''))
          const png = readFileSync(file)
          // PNG specification, section 11.2.1: IHDR is the first chunk.
          image.attrSet('width', String(png.readUInt32BE(16)))
          image.attrSet('height', String(png.readUInt32BE(20)))
        }
    })
  }
