import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { BrotliOptions } from 'node:zlib'
import { chooseEncoding } from '../proxy/http/chooseEncoding.ts'
import type { Encoding } from '../proxy/http/chooseEncoding.ts'
import { minCompressedBytes } from '../proxy/http/compress.ts'
import { ConfigError } from './configError.ts'
import { createPagePreloads } from './pagePreloads.ts'

/** Responds to a GET or HEAD request for a file. @returns Whether there is such a file; if not, the response is untouched. */
export type StaticFiles = (request: IncomingMessage, response: ServerResponse) => boolean

interface StaticFile {
  readonly body: Buffer
  /** Compressed at the first request that accepts the encoding. */
  readonly compressed: Map<Encoding, Promise<Buffer>>
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

const toEtag = (content: Buffer | string): string =>
  `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`

/** Files that the build names after a hash of their content. */
const hashedPath = /^\/assets\/.*-[\w-]{8,}\.\w+$/
const revalidate = 'no-cache'
const immutable = 'public, max-age=31536000, immutable'

const readFolder = (folder: string): Map<string, StaticFile> => {
  const files = new Map<string, StaticFile>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = types[extname(entry.name)]
    // Not served: source maps and other files that no page needs.
    if (!entry.isFile() || type === undefined || entry.name.startsWith('.')) continue
    const file = join(entry.parentPath, entry.name)
    const path = `/${relative(folder, file).split(sep).join('/')}`
    const body = readFileSync(file)
    const etag = toEtag(body)
    files.set(path, {
      body,
      compressed: new Map(),
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

// A file is compressed once, on another thread. Brotli 11 would save 6 % of the bytes and take 15 times the CPU of brotli 9.
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
const compressors = {
  br: promisify<Buffer, BrotliOptions, Buffer>(brotliCompress),
  gzip: promisify<Buffer, { level: number }, Buffer>(gzip),
}

const compress = ({ body, compressed }: StaticFile, encoding: Encoding): Promise<Buffer> => {
  let result = compressed.get(encoding)
  if (result === undefined) {
    result = encoding === 'br' ? compressors.br(body, brotli) : compressors.gzip(body, { level: 9 })
    compressed.set(encoding, result)
  }
  return result
}

const send = (
  request: IncomingMessage,
  response: ServerResponse,
  { body, headers }: { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> },
): void => {
  response.writeHead(200, { ...headers, 'Content-Length': body.length })
  response.end(request.method === 'HEAD' ? undefined : body)
}

/**
 * Serves the files of a folder. The folder is read once, so no path can reach a file outside of it, and an update that replaces the files
 * under a running service breaks no page.
 * @param folder - A folder with an `index.html`, which is served for all page routes. If it has a `preloads.json`, they have its `Link` headers.
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
  const preloadList = files.get('/preloads.json')
  files.delete('/preloads.json')
  const getPreloads = preloadList === undefined ? undefined : createPagePreloads(preloadList.body.toString())

  return (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const path = (request.url ?? '/').split(/[?#]/, 1)[0] ?? '/'
    const file =
      files.get(path === '/' ? '/index.html' : path) ?? (isPageRoute(path, request.headers.accept) ? index : undefined)
    if (file === undefined) return false
    const link = file === index ? getPreloads?.({ url: request.url ?? '/', cookie: request.headers.cookie }) : undefined
    // A response without a changed body cannot remove the `Link` header that the browser has stored.
    const etag = link === undefined ? file.etag : toEtag(file.etag + link)
    const fileHeaders = {
      ...headers,
      ETag: etag,
      'Cache-Control': file.cacheControl,
      Vary: file === index ? 'Accept-Encoding, Cookie' : 'Accept-Encoding',
      ...(link !== undefined && { Link: link }),
    }
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304, fileHeaders).end()
      return true
    }
    const typed = { ...fileHeaders, 'Content-Type': file.type }
    const accepted = request.headers['accept-encoding']
    const encoding =
      isText.test(file.type) && file.body.length >= minCompressedBytes
        ? chooseEncoding(accepted === undefined ? undefined : String(accepted))
        : undefined
    if (encoding === undefined) send(request, response, { body: file.body, headers: typed })
    else {
      void compress(file, encoding).then((body) =>
        send(request, response, { body, headers: { ...typed, 'Content-Encoding': encoding } }),
      )
    }
    return true
  }
}
