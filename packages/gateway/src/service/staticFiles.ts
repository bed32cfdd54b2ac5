import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, relative, sep } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ConfigError } from './configError.ts'

/** Responds to a GET or HEAD request for a file. @returns Whether there is such a file; if not, the response is untouched. */
export type StaticFiles = (request: IncomingMessage, response: ServerResponse) => boolean

interface StaticFile {
  readonly body: Buffer
  /** Compressed at the first request that accepts gzip. */
  gzipped: Buffer | undefined
  readonly type: string
  readonly etag: string
  readonly cacheControl: string
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}
const isText = /^(?:text\/|image\/svg|application\/(?:json|manifest))/
const minGzipBytes = 1_024

/** Files that the build names after a hash of their content. */
const hashedPath = /^\/assets\/.*-[\w-]{8,}\.\w+$/
const revalidate = 'no-cache'
const immutable = 'public, max-age=31536000, immutable'

const readFolder = (folder: string): ReadonlyMap<string, StaticFile> => {
  const files = new Map<string, StaticFile>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = types[extname(entry.name)]
    // Not served: source maps and other files that no page needs.
    if (!entry.isFile() || type === undefined || entry.name.startsWith('.')) continue
    const file = join(entry.parentPath, entry.name)
    const path = `/${relative(folder, file).split(sep).join('/')}`
    const body = readFileSync(file)
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
    files.set(path, {
      body,
      gzipped: undefined,
      type,
      etag,
      cacheControl: hashedPath.test(path) ? immutable : revalidate,
    })
  }
  return files
}

/** Whether a path is a route of the single-page app rather than a missing file. */
const isPageRoute = (path: string, accept: string | undefined): boolean =>
  extname(path) === '' && /text\/html|\*\/\*/.test(accept ?? '')

/** A gzip or * entry without q=0. Nothing optional precedes the lookahead: backtracking would take quadratic time. */
const gzipEntry = /(?:^|,)\s*(?:gzip|\*)(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i

/** Whether an `Accept-Encoding` header accepts gzip. Takes time linear in the header's length. */
export const acceptsGzip = (header: string | string[] | undefined): boolean => gzipEntry.test(String(header ?? ''))

/**
 * Serves the files of a folder. The folder is read once, so no path can reach a file outside of it.
 * @param folder - A folder with an `index.html`, which is served for all page routes.
 * @param headers - Added to every response.
 * @throws {ConfigError} if the folder has no `index.html`.
 */
export const createStaticFiles = (folder: string, headers: Readonly<Record<string, string>>): StaticFiles => {
  if (!existsSync(join(folder, 'index.html')))
    throw new ConfigError([
      { path: 'dashboard.folder', fix: 'has no index.html: set it to the folder with the built pages' },
    ])
  const files = readFolder(folder)
  const index = files.get('/index.html')

  return (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const path = (request.url ?? '/').split(/[?#]/, 1)[0] ?? '/'
    const file =
      files.get(path === '/' ? '/index.html' : path) ?? (isPageRoute(path, request.headers.accept) ? index : undefined)
    if (file === undefined) return false
    const fileHeaders = { ...headers, ETag: file.etag, 'Cache-Control': file.cacheControl, Vary: 'Accept-Encoding' }
    if (request.headers['if-none-match'] === file.etag) {
      response.writeHead(304, fileHeaders).end()
      return true
    }
    const usesGzip =
      isText.test(file.type) && file.body.length >= minGzipBytes && acceptsGzip(request.headers['accept-encoding'])
    const body = usesGzip ? (file.gzipped ??= gzipSync(file.body, { level: 9 })) : file.body
    response.writeHead(200, {
      ...fileHeaders,
      'Content-Type': file.type,
      'Content-Length': body.length,
      ...(usesGzip ? { 'Content-Encoding': 'gzip' } : {}),
    })
    response.end(request.method === 'HEAD' ? undefined : body)
    return true
  }
}
