import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRaw } from '../../test/rawConnection.ts'
import { siteHeaders } from './siteHeaders.ts'
import { createStaticFiles } from './staticFiles.ts'

const folder = mkdtempSync(join(tmpdir(), 'keyrail-pages-'))
const pages = join(folder, 'pages')
mkdirSync(join(pages, 'assets'), { recursive: true })
writeFileSync(join(folder, 'beside.txt'), 'beside')
writeFileSync(join(pages, 'index.html'), '<!doctype html><title>Keyrail</title>')
writeFileSync(join(pages, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
writeFileSync(join(pages, 'assets/index-B1x_y2Z3.js'), `console.log(${'1,'.repeat(2_000)}1)`)
writeFileSync(join(pages, 'assets/index-B1x_y2Z3.js.map'), '{}')
writeFileSync(join(pages, '.env'), 'topsecret')
writeFileSync(
  join(pages, 'preloads.json'),
  JSON.stringify([{ path: '/apps/{appId}/setup', scripts: ['/assets/setup-1.js'], data: ['/api/apps/{appId}'] }]),
)

const files = createStaticFiles(pages, siteHeaders())
const server = createServer((request, response) => {
  if (!files(request, response)) response.writeHead(404).end('none')
})
let url = ''
let port = 0
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
  url = `http://127.0.0.1:${port}`
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('createStaticFiles', () => {
  test('a page is revalidated each time, and is not sent twice', async () => {
    const first = await fetch(url)
    expect(await first.text()).toContain('<title>Keyrail</title>')
    expect(first.headers.get('cache-control')).toBe('no-cache')
    expect(first.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(first.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'/,
    )
    expect(first.headers.get('content-security-policy')).not.toMatch(/unsafe|\*/)
    const again = await fetch(url, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  test('a page that an update removes is served until the service restarts', async () => {
    const file = join(pages, 'removed.txt')
    writeFileSync(file, 'still here')
    const served = createStaticFiles(pages, {})
    rmSync(file)
    const old = createServer((request, response) => void served(request, response)).listen(0, '127.0.0.1')
    await once(old, 'listening')
    const { port: oldPort } = old.address() as AddressInfo
    expect(await (await fetch(`http://127.0.0.1:${oldPort}/removed.txt`)).text()).toBe('still here')
    old.close()
  })

  test.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['gzip;q=0, br;q=0', null],
  ])('a hashed asset is immutable, and compressed as the client accepts it: %s', async (accepted, encoding) => {
    const asset = await fetch(`${url}/assets/index-B1x_y2Z3.js?v=1`, { headers: { 'accept-encoding': accepted } })
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(asset.headers.get('content-encoding')).toBe(encoding)
    expect(asset.headers.get('vary')).toBe('Accept-Encoding')
    expect(await asset.text()).toMatch(/^console\.log/)
    const head = await fetch(`${url}/assets/index-B1x_y2Z3.js`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  test('a route of the single-page app serves the page, a missing file does not', async () => {
    const route = await fetch(`${url}/apps/app_1/setup`, { headers: { accept: 'text/html' } })
    expect(await route.text()).toContain('<title>Keyrail</title>')
    expect((await fetch(`${url}/assets/gone-12345678.js`)).status).toBe(404)
    expect((await fetch(`${url}/apps`, { headers: { accept: 'application/json' } })).status).toBe(404)
    expect((await fetch(url, { method: 'POST' })).status).toBe(404)
  })

  test('a page names what to load with it, and has changed if that has', async () => {
    const cookie = 'keyrail-session=secret'
    const first = await fetch(`${url}/apps/app_1/setup`, { headers: { cookie } })
    const link = '</assets/setup-1.js>; rel=modulepreload, </api/apps/app_1?>; rel=preload; as=fetch; crossorigin'
    expect(first.headers.get('link')).toBe(link)
    expect(first.headers.get('vary')).toBe('Accept-Encoding, Cookie')
    const stored = { 'if-none-match': first.headers.get('etag') ?? '' }
    const again = await fetch(`${url}/apps/app_1/setup`, { headers: { ...stored, cookie } })
    expect([again.status, again.headers.get('link')]).toEqual([304, link])
    // Logged out, it loads other things, so the browser must not go on with what it has stored.
    const other = await fetch(`${url}/apps/app_1/setup`, { headers: stored })
    expect([other.status, other.headers.get('link')]).toEqual([200, '</assets/setup-1.js>; rel=modulepreload'])
    expect((await fetch(`${url}/assets/index-B1x_y2Z3.js`)).headers.get('link')).toBeNull()
    expect((await fetch(`${url}/preloads.json`)).status).toBe(404)
  })

  test.each([
    '/../beside.txt',
    '/%2e%2e/beside.txt',
    '/..%2fbeside.txt',
    '//beside.txt',
    '/assets/../../beside.txt',
    '/.env',
    '/assets/index-B1x_y2Z3.js.map',
  ])('serves no file outside of the pages: %s', async (path) => {
    const connection = await openRaw(port)
    connection.send(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`))
    const { status } = await connection.next()
    expect(status).toBe(404)
  })

  test('a folder without an index.html is rejected', () => {
    expect(() => createStaticFiles(folder, {})).toThrow('has no index.html')
  })
})
