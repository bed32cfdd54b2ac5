import { z } from 'zod'
import { ConfigError } from './configError.ts'

/** What a page of the dashboard needs besides the scripts that every page has. */
const pages = z.array(
  z.object({
    /** With parameters, such as `/apps/{appId}/setup`. */
    path: z.string(),
    scripts: z.array(z.string()),
    /** The paths of the control API that it reads, with the parameters of its own path. */
    data: z.array(z.string()),
  }),
)

/** The part of a request for a page that decides what to preload. */
export interface PageRequest {
  /** With its query. */
  readonly url: string
  readonly cookie: string | undefined
}

/** Returns the `Link` header of a page; `undefined` if it needs no more than every page. */
export type PagePreloads = (request: PageRequest) => string | undefined

const parameter = /\{(\w+)\}/g
const hasSession = /(?:^|;\s*)(?:__Host-)?keyrail-session=/
const actsForTeam = /(?:^|;\s*)keyrail-team=/

/** A read of the dashboard while it opens has an empty parameter, so that no later read takes what was preloaded. */
const toPreloadUrl = (path: string): string => `${path}${path.includes('?') ? '&' : '?'}`

const parse = (text: string): z.infer<typeof pages> => {
  try {
    return pages.parse(JSON.parse(text))
  } catch {
    throw new ConfigError([
      { path: 'dashboard.folder', fix: 'has a preloads.json that is no list of pages: build the pages again' },
    ])
  }
}

/**
 * Creates the `Link` headers of pages. With them, the browser loads the scripts and the data of a page together with the scripts that every page
 * has, rather than after those have run. Data is preloaded for a browser with a session that acts for its own account: a preload cannot send the
 * header that names a team.
 * @param text - The `preloads.json` of the built pages.
 * @throws {ConfigError} if it is not what the build writes.
 */
export const createPagePreloads = (text: string): PagePreloads => {
  const table = parse(text).map((page) => ({
    ...page,
    names: [...page.path.matchAll(parameter)].map(([, name = '']) => name),
    pattern: new RegExp(`^${page.path.replaceAll(parameter, '([\\w-]{1,64})')}$`),
  }))
  return ({ url, cookie = '' }) => {
    const [path = '', query] = url.split('?', 2)
    for (const { pattern, names, scripts, data } of table) {
      const match = pattern.exec(path)
      if (match === null) continue
      const values = new Map(names.map((name, at) => [name, match[at + 1] ?? '']))
      // The query of a page, such as a search text, decides what it reads.
      const isKnown = query === undefined && hasSession.test(cookie) && !actsForTeam.test(cookie)
      const reads = isKnown ? data : []
      const links = [
        ...scripts.map((script) => `<${script}>; rel=modulepreload`),
        ...reads
          .map((read) => toPreloadUrl(read.replaceAll(parameter, (_, name: string) => values.get(name) ?? '')))
          .map((read) => `<${read}>; rel=preload; as=fetch; crossorigin`),
      ]
      return links.length === 0 ? undefined : links.join(', ')
    }
    return undefined
  }
}
