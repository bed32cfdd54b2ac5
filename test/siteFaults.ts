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

/** Hosts that pages may name, and nobody is asked at: reserved for documentation, of this machine, or of a private network. */
const reserved =
  /^([\w-]+[.])*(example|example[.](com|org|net)|test|localhost|invalid)$|^(127|10)([.]\d+){3}$|^203[.]0[.]113[.]\d+$/

/**
 * Finds what is wrong with a built site: links that lead to no page or no heading, pages that no link leads to, and what a page would load
 * from, or names of, another host.
 * @param folder - The site, as it would be served.
 * @param named - Hosts that may be named in words and in links. Nothing is ever loaded from one.
 * @returns One sentence per fault.
 */
export function siteFaults(folder: string, named: readonly string[]): string[] {
  const pages = new Map(filesOf(folder, '**/*.html').map((file) => [`/${file}`, readPage(folder, `/${file}`)] as const))
  const files = new Set(filesOf(folder, '**/*').map((file) => `/${file}`))
  return [
    ...[...pages.values()].flatMap((page) => linkFaultsOf(page, pages, files)),
    ...unreached(pages),
    ...[...pages.values()].flatMap(loadFaults),
    ...filesOf(folder, '**/*.{html,js,css}').flatMap((file) => hostFaults(folder, file, named)),
  ]
}

const filesOf = (folder: string, pattern: string): string[] =>
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

/** The page that a link leads to, and the heading; undefined where it leads out of the site. */
function target(from: string, href: string): { readonly path: string; readonly anchor: string } | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return undefined
  const [path = '', anchor = ''] = decodeURI(href).split('#')
  const whole = path === '' ? from : posix.resolve(posix.dirname(from), path)
  return { path: path.endsWith('/') ? posix.join(whole, 'index.html') : whole, anchor }
}

function linkFaultsOf(page: Page, pages: ReadonlyMap<string, Page>, files: ReadonlySet<string>): string[] {
  return page.links.flatMap((href) => {
    const to = target(page.path, href)
    if (!to) return []
    const found = pages.get(to.path)
    if (!found) return files.has(to.path) ? [] : [`${page.path}: the link ${href} leads nowhere`]
    const isThere = to.anchor === '' || found.ids.has(to.anchor)
    return isThere ? [] : [`${page.path}: the link ${href} names no heading`]
  })
}

function unreached(pages: ReadonlyMap<string, Page>): string[] {
  const reached = new Set(['/index.html', '/404.html'])
  for (const path of reached) {
    for (const href of pages.get(path)?.links ?? []) {
      const to = target(path, href)
      if (to && pages.has(to.path)) reached.add(to.path)
    }
  }
  return [...pages.keys()].filter((path) => !reached.has(path)).map((path) => `${path}: no link leads here`)
}

/** What a page loads: each of it must be its own. */
function loadFaults({ path, html }: Page): string[] {
  const loaded = [
    ...html.matchAll(/<(?!a\s)[a-z]+\s[^>]*?\s(?:src|href|srcset|action|data|poster)="([^"]*)"/g),
    ...html.matchAll(/url\(([^)]*)\)/g),
  ].map(([, url = '']) => url)
  const faults = loaded
    .filter((url) => /^([a-z][a-z0-9+.-]*:|[/][/])/i.test(url) && !url.startsWith('data:'))
    .map((url) => `${path}: loads ${url}`)
  return /<meta http-equiv="Content-Security-Policy" content="default-src 'self';/.test(html)
    ? faults
    : [...faults, `${path}: has no policy against other hosts`]
}

function hostFaults(folder: string, file: string, named: readonly string[]): string[] {
  const text = readFileSync(join(folder, file), 'utf8')
  const hosts = new Set([...text.matchAll(/\bhttps?:\\?[/]\\?[/]([\w.-]*\w)/g)].map(([, host = '']) => host))
  return [...hosts]
    .filter((host) => !reserved.test(host) && !named.includes(host))
    .map((host) => `${file}: names the host ${host}`)
}
