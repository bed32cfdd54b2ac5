import { posix } from 'node:path'
import { headingSlug } from './headingSlug.ts'
import { sitePath } from './sitePath.ts'

/** What of markdown-it's tokens is looked at. */
interface Token {
  readonly type: string
  /** The element, such as `th`. */
  tag: string
  readonly children: Token[] | null
  hidden: boolean
  content: string
  attrGet(name: string): string | null
  attrSet(name: string, value: string): void
}

/** What of markdown-it is used. */
export interface Markdown {
  readonly core: {
    readonly ruler: {
      push(
        name: string,
        rule: (state: { readonly tokens: Token[]; readonly env: { readonly relativePath?: string } }) => void,
      ): void
    }
  }
  disable(name: string, ignoreInvalid?: boolean): void
}

/**
 * Leads the links of pages, which are written for the repository, to the pages of the site. A link to what is no page of it stays as its text.
 * @param sources - Of each page, by its path in the site, the file that it comes from.
 * @returns A plugin of markdown-it.
 */
export const siteLinks =
  (sources: ReadonlyMap<string, string>) =>
  (markdown: Markdown): void => {
    markdown.core.ruler.push('site-links', ({ tokens, env }) => {
      const source = sources.get(env.relativePath ?? '')
      if (source === undefined) return
      for (const { children } of tokens) if (children) leadLinks(children, source)
    })
  }

function leadLinks(tokens: Token[], source: string): void {
  let dropped = false
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const href = token.attrGet('href') ?? ''
      if (/^([a-z][a-z0-9+.-]*:|[#/])/i.test(href)) continue
      const [path = '', anchor] = decodeURI(href).split('#')
      const page = sitePath(posix.join(posix.dirname(source), path).replace(/[/]$/, ''))
      // The page of an example contains its programs, each below its name.
      const isProgram = source.startsWith('examples/') && /^[\w.-]+[.]m?[jt]s$/.test(path)
      if (isProgram) token.attrSet('href', `#${headingSlug(path)}`)
      else if (page === undefined) {
        dropped = true
        hide(token)
      } else token.attrSet('href', `/${page}${anchor === undefined ? '' : `#${anchor}`}`)
    } else if (token.type === 'link_close' && dropped) {
      dropped = false
      hide(token)
    }
  }
}

/** Inline tokens cannot be hidden: an empty text says nothing. */
function hide(token: Token): void {
  Object.assign(token, { type: 'text', tag: '', nesting: 0, content: '' })
}
