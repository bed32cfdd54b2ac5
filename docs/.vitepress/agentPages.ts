import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isForContributors } from './isForContributors.ts'
import type { SitePage } from './readPages.ts'
import type { SidebarGroup, SidebarItem } from './sidebar.ts'
import { toSiteLink } from './siteLinks.ts'

/** What the files for agents are made of. */
export interface AgentPagesInput {
  readonly pages: readonly SitePage[]
  readonly sidebar: readonly SidebarGroup[]
  readonly title: string
  readonly description: string
  /** The URL of the site, without a slash at the end; empty if it is not known, so that links are paths. */
  readonly siteUrl: string
}

/**
 * Writes what agents read into the built site: each page as Markdown next to its HTML, `llms.txt` with a link to each page, and `llms-full.txt`
 * with the text of all guides. Pages for contributors are in neither list, and the references are only in the first.
 *
 * @param folder - The folder of the built site.
 * @see https://llmstxt.org
 */
export function writeAgentPages(
  folder: string,
  { pages, sidebar, title, description, siteUrl }: AgentPagesInput,
): void {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const texts = toAgentTexts(pages, siteUrl)
  for (const [path, text] of texts) write(path, text)

  const seen = new Set<string>()
  const groups = sidebar.map((group) => {
    const entries = listItems(group).flatMap(({ text, link }) => {
      const path = link.replace(/^[/]/, '')
      const markdown = texts.get(path)
      if (markdown === undefined || seen.has(path) || isForContributors(path)) return []
      seen.add(path)
      const about = getFirstSentence(markdown)
      return [`- [${text}](${siteUrl}/${path})${about === '' ? '' : `: ${about}`}`]
    })
    return entries.length === 0 ? [] : [`## ${group.text}`, entries.join('\n')]
  })
  write('llms.txt', `${[`# ${title}`, `> ${description}`, ...groups.flat()].join('\n\n')}\n`)

  const guides = pages.filter(({ path }) => seen.has(path) && !/^(api|reference)[/]/.test(path))
  const full = guides.map(({ path }) => `<!-- ${siteUrl}/${path} -->\n\n${(texts.get(path) ?? '').trim()}`)
  write('llms-full.txt', `${full.join('\n\n')}\n`)
}

/** Returns each page as agents get it, by its path: links lead to pages of the site. */
const toAgentTexts = (pages: readonly SitePage[], siteUrl: string): ReadonlyMap<string, string> =>
  new Map(pages.map((page) => [page.path, withSiteLinks(page, siteUrl)]))

/** Returns the pages that the search finds, on the site and in `keyrail mcp`, as agents get them. */
export const toSearchedTexts = (pages: readonly SitePage[]): ReadonlyMap<string, string> =>
  toAgentTexts(
    pages.filter(({ path }) => !isForContributors(path)),
    '',
  )

const listItems = (group: SidebarGroup): SidebarItem[] => [
  ...(group.link === undefined ? [] : [{ text: group.text, link: group.link }]),
  ...group.items.flatMap((item) => ('items' in item ? listItems(item) : [item])),
]

/** Rewrites the links of a page. A link to a file that is not on the site becomes its text. Code stays as it is. */
function withSiteLinks({ markdown, source }: SitePage, siteUrl: string): string {
  let fence = ''
  return markdown
    .split('\n')
    .map((line) => {
      const [, mark = ''] = /^\s*(```+)/.exec(line) ?? []
      if (mark !== '' && (fence === '' || mark.length >= fence.length)) fence = fence === '' ? mark : ''
      if (fence !== '') return line
      return line.replaceAll(
        /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g,
        (whole, image: string, text: string, href: string) => {
          if (image !== '') return whole
          const target = toSiteLink(href, source)
          if (target === undefined) return text
          return `[${text}](${target.startsWith('/') ? siteUrl : ''}${target})`
        },
      )
    })
    .join('\n')
}

/** The first sentence below the title, as plain text. */
function getFirstSentence(markdown: string): string {
  const paragraph = markdown.split(/\n\s*\n/).find((block) => /^[A-Z`*[]/.test(block.trim()))
  const text = (paragraph ?? '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return /^.*?[.?!](?= |$)/.exec(text)?.[0] ?? ''
}
