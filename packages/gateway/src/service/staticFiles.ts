import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, relative, sep } from 'node:path'
import { gzipSync } from 'node:zlib'
import { acceptsGzip } from './acceptsGzip.ts'
import { ConfigError } from './configError.ts'

/** Answers a GET or HEAD out of a folder of built pages. @returns Whether it was one of them. */
export type StaticFiles = (request: IncomingMessage, response: ServerResponse) => boolean

interface StaticFile {
  readonly body: Buffer
  /** Where it is worth it, and made when it is first asked for. */
  zipped: Buffer | undefined
  readonly type: string
  readonly etag: string
  readonly caching: string
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
const worthZipping = 1_024

/** A build gives these files a name that changes with what is in them. */
const isHashed = /^\/assets\/.*-[\w-]{8,}\.\w+$/
const asPage = 'no-cache'
const forEver = 'public, max-age=31536000, immutable'

const readFolder = (folder: string): ReadonlyMap<string, StaticFile> => {
  const files = new Map<string, StaticFile>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = types[extname(entry.name)]
    // What is not of a page, such as a source map, is nobody's business.
    if (!entry.isFile() || type === undefined || entry.name.startsWith('.')) continue
    const file = join(entry.parentPath, entry.name)
    const path = `/${relative(folder, file).split(sep).join('/')}`
    const body = readFileSync(file)
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
    files.set(path, { body, zipped: undefined, type, etag, caching: isHashed.test(path) ? forEver : asPage })
  }
  return files
}

/** Not a file that is missing, but a place in the pages' own program. */
const isPlaceInPages = (path: string, accept: string | undefined): boolean =>
  extname(path) === '' && /text\/html|\*\/\*/.test(accept ?? '')

/**
 * Serves built pages. The folder is read once, so nothing beside it can ever be asked for, however a path is spelled.
 * @param folder - With an `index.html`, which answers for every place that is no file.
 * @param headers - Added to every answer.
 * @throws {ConfigError} where the folder holds no `index.html`.
 */
export const createStaticFiles = (folder: string, headers: Readonly<Record<string, string>>): StaticFiles => {
  if (!existsSync(join(folder, 'index.html')))
    throw new ConfigError([
      { path: 'dashboard.folder', fix: 'holds no index.html: give the folder with the built pages' },
    ])
  const files = readFolder(folder)
  const index = files.get('/index.html')

  return (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const path = (request.url ?? '/').split(/[?#]/, 1)[0] ?? '/'
    const file =
      files.get(path === '/' ? '/index.html' : path) ??
      (isPlaceInPages(path, request.headers.accept) ? index : undefined)
    if (file === undefined) return false
    const own = { ...headers, ETag: file.etag, 'Cache-Control': file.caching, Vary: 'Accept-Encoding' }
    if (request.headers['if-none-match'] === file.etag) {
      response.writeHead(304, own).end()
      return true
    }
    const zips =
      isText.test(file.type) && file.body.length >= worthZipping && acceptsGzip(request.headers['accept-encoding'])
    const body = zips ? (file.zipped ??= gzipSync(file.body, { level: 9 })) : file.body
    response.writeHead(200, {
      ...own,
      'Content-Type': file.type,
      'Content-Length': body.length,
      ...(zips ? { 'Content-Encoding': 'gzip' } : {}),
    })
    response.end(request.method === 'HEAD' ? undefined : body)
    return true
  }
}
