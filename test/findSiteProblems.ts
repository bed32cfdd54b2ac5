import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** A built page. */
interface Page {
  /** From the site's top, as `/service/running.html`. */
  readonly path: string
  readonly html: string
  readonly ids: ReadonlySet<string>
  readonly links: readonly string[]
}

/** Hosts that any page may name: reserved for documentation, this machine, or in a private network. */
const reserved =
  /^([\w-]+[.])*(example|example[.](com|org|net)|test|localhost|invalid)$|^(127|10)([.]\d+){3}$|^203[.]0[.]113[.]\d+$/

/**
 * Finds problems of a built site: links to missing pages or headings, pages without a link to them, resources from other hosts, and names of
 * other hosts.
 * @param folder - The folder of the built site.
 * @param named - Hosts that texts and links may name. Pages must not load anything from them either.
 * @returns One sentence per problem.
 */
export function findSiteProblems(folder: string, named: readonly string[]): string[] {
  const pages = new Map(
    listFiles(folder, '**/*.html').map((file) => [`/${file}`, readPage(folder, `/${file}`)] as const),
  )
  const files = new Set(listFiles(folder, '**/*').map((file) => `/${file}`))
  return [
    ...[...pages.values()].flatMap((page) => findLinkProblems(page, pages, files)),
    ...findUnlinkedPages(pages),
    ...[...pages.values()].flatMap(findLoadProblems),
    ...listFiles(folder, '**/*.{html,js,css}').flatMap((file) => findHostProblems(folder, file, named)),
  ]
}

const listFiles = (folder: string, pattern: string): string[] =>
  globSync(pattern, { cwd: folder })
    .map((file) => file.replaceAll('\\', '/'))
    .sort()

function readPage(folder: string, path: string): Page {
  const html = readFileSync(join(folder, path), 'utf8')
  const all = (attribute: string): string[] =>
    [...html.matchAll(new RegExp(`\\s${attribute}="([^"]*)"`, 'g'))].map(([, value = '']) =>
      value.replaceAll('&amp;', '&'),
    )
  const links = [...html.matchAll(/<a\s[^>]*?href="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'))
  return { path, html, ids: new Set(all('id')), links }
}

/** Resolves a link to a page and a heading. Returns undefined for a link to another site. */
function resolveLink(from: string, href: string): { readonly path: string; readonly anchor: string } | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return undefined
  const [path = '', anchor = ''] = decodeURI(href).split('#')
  const fullPath = path === '' ? from : posix.resolve(posix.dirname(from), path)
  return { path: path.endsWith('/') ? posix.join(fullPath, 'index.html') : fullPath, anchor }
}

function findLinkProblems(page: Page, pages: ReadonlyMap<string, Page>, files: ReadonlySet<string>): string[] {
  return page.links.flatMap((href) => {
    const to = resolveLink(page.path, href)
    if (!to) return []
    const found = pages.get(to.path)
    if (!found) return files.has(to.path) ? [] : [`${page.path}: the link ${href} leads nowhere`]
    const isThere = to.anchor === '' || found.ids.has(to.anchor)
    return isThere ? [] : [`${page.path}: the link ${href} names no heading`]
  })
}

function findUnlinkedPages(pages: ReadonlyMap<string, Page>): string[] {
  const reached = new Set(['/index.html', '/404.html'])
  for (const path of reached) {
    for (const href of pages.get(path)?.links ?? []) {
      const to = resolveLink(path, href)
      if (to && pages.has(to.path)) reached.add(to.path)
    }
  }
  return [...pages.keys()].filter((path) => !reached.has(path)).map((path) => `${path}: no link leads here`)
}

/** Finds resources that a page loads from other hosts. */
function findLoadProblems({ path, html }: Page): string[] {
  const loaded = [
    ...html.matchAll(/<(?!a\s)[a-z]+\s[^>]*?\s(?:src|href|srcset|action|data|poster)="([^"]*)"/g),
    ...html.matchAll(/url\(([^)]*)\)/g),
  ].map(([, url = '']) => url)
  const problems = loaded
    .filter((url) => /^([a-z][a-z0-9+.-]*:|[/][/])/i.test(url) && !url.startsWith('data:'))
    .map((url) => `${path}: loads ${url}`)
  return /<meta http-equiv="Content-Security-Policy" content="default-src 'self';/.test(html)
    ? problems
    : [...problems, `${path}: has no policy against other hosts`]
}

function findHostProblems(folder: string, file: string, named: readonly string[]): string[] {
  const text = readFileSync(join(folder, file), 'utf8')
  const hosts = new Set([...text.matchAll(/\bhttps?:\\?[/]\\?[/]([\w.-]*\w)/g)].map(([, host = '']) => host))
  return [...hosts]
    .filter((host) => !reserved.test(host) && !named.includes(host))
    .map((host) => `${file}: names the host ${host}`)
}
