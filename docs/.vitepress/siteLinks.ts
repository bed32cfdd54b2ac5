import { posix } from 'node:path'
import { headingSlug } from './headingSlug.ts'
import { sitePath } from './sitePath.ts'

/** The members of markdown-it's tokens that are used. */
interface Token {
  readonly type: string
  /** The element, such as `th`. */
  tag: string
  readonly children: Token[] | null
  hidden: boolean
  content: string
  readonly attrs: readonly (readonly [name: string, value: string])[] | null
  attrGet(name: string): string | null
  attrSet(name: string, value: string): void
}

/** The members of markdown-it that are used. */
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
 * Rewrites links, which are written for the repository, to the pages of the site. A link to a file that is not a page becomes text.
 * @param sources - The source file of each page, by its path in the site.
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

/**
 * Returns the target of a link on the site.
 * @param href - The target in the repository.
 * @param source - The file that has the link.
 * @returns A path such as `/service/running.md#redis`, or the same target if it is not a path; undefined if the file is not a page.
 */
export function toSiteLink(href: string, source: string): string | undefined {
  if (/^([a-z][a-z0-9+.-]*:|[#/])/i.test(href)) return href
  const [path = '', anchor] = decodeURI(href).split('#')
  // The page of an example contains its programs, each below its name.
  if (source.startsWith('examples/') && /^[\w.-]+[.]m?[jt]s$/.test(path)) return `#${headingSlug(path)}`
  const page = sitePath(posix.join(posix.dirname(source), path).replace(/[/]$/, ''))
  return page === undefined ? undefined : `/${page}${anchor === undefined ? '' : `#${anchor}`}`
}

function leadLinks(tokens: Token[], source: string): void {
  let dropped = false
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const target = toSiteLink(token.attrGet('href') ?? '', source)
      if (target === undefined) {
        dropped = true
        hide(token)
      } else token.attrSet('href', target)
    } else if (token.type === 'link_close' && dropped) {
      dropped = false
      hide(token)
    }
  }
}

/** Inline tokens cannot be hidden, so they become empty texts. */
function hide(token: Token): void {
  Object.assign(token, { type: 'text', tag: '', nesting: 0, content: '' })
}
