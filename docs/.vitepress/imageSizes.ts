import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Markdown } from './siteLinks.ts'

/** The picture of the same page in dark mode. */
export const toDarkPicture = (path: string): string => path.replace(/-light[.]png$/, '-dark.png')

/**
 * Gives images their width and height, so that the text below does not move when they arrive. An image `…-light.png` gets the one for dark mode
 * next to it, if there is one: the styles hide one of the two, and the browser does not load it.
 * @param folder - The folder of the pages.
 * @returns A plugin of markdown-it.
 */
export const imageSizes =
  (folder: string) =>
  (markdown: Markdown): void => {
    markdown.core.ruler.push('image-sizes', ({ tokens, env }) => {
      for (const { children } of tokens)
        for (const image of children?.filter(({ type }) => type === 'image') ?? []) {
          const source = image.attrGet('src') ?? ''
          const file = join(folder, posix.join(posix.dirname(env.relativePath ?? ''), source))
          const png = readFileSync(file)
          // PNG specification, section 11.2.1: IHDR is the first chunk.
          image.attrSet('width', String(png.readUInt32BE(16)))
          image.attrSet('height', String(png.readUInt32BE(20)))
          const dark = toDarkPicture(source)
          if (dark === source || !existsSync(toDarkPicture(file))) continue
          const copy = Object.assign(Object.create(Object.getPrototypeOf(image) as object) as typeof image, image, {
            attrs: image.attrs?.map((pair) => [...pair]),
          })
          copy.attrSet('src', dark)
          copy.attrSet('class', 'in-dark')
          image.attrSet('class', 'in-light')
          children?.splice(children.indexOf(image) + 1, 0, copy)
        }
    })
  }
