import { expect, test } from 'vitest'
import { createPagePreloads } from './pagePreloads.ts'

const preloads = createPagePreloads(
  JSON.stringify([
    { path: '/apps', scripts: ['/assets/Apps-1.js'], data: ['/api/session', '/api/apps?limit=48'] },
    { path: '/apps/{appId}/setup', scripts: ['/assets/AppSetup-1.js'], data: ['/api/apps/{appId}'] },
    { path: '/nothing', scripts: [], data: [] },
  ]),
)
const cookie = 'other=1; __Host-keyrail-session=secret'

test('a page of a user who is logged in names its scripts and its reads', () => {
  expect(preloads({ url: '/apps', cookie })).toBe(
    '</assets/Apps-1.js>; rel=modulepreload, </api/session?>; rel=preload; as=fetch; crossorigin, </api/apps?limit=48&>; rel=preload; as=fetch; crossorigin',
  )
  expect(preloads({ url: '/apps/app_1/setup', cookie: 'keyrail-session=secret' })).toContain('</api/apps/app_1?>')
})

test.each([
  ['without a session', '/apps', undefined],
  ['with a cookie of another name', '/apps', 'my-keyrail-session=1'],
  ['for a team', '/apps', `${cookie}; keyrail-team=1`],
  ['with a search text, which decides what it reads', '/apps?search=a', cookie],
])('a page %s names only its scripts', (_, url, sent) => {
  expect(preloads({ url, cookie: sent })).toBe('</assets/Apps-1.js>; rel=modulepreload')
})

test.each(['/apps/', '/apps/app_1', '/apps/a>; rel=x/setup', '/apps/a%0d%0ab/setup', '/nothing', '/log-in'])(
  'another path has no such header: %s',
  (url) => {
    expect(preloads({ url, cookie })).toBeUndefined()
  },
)

test.each(['', '{}', '[{"path":1}]'])('a file that is no list of pages is rejected: %s', (text) => {
  expect(() => createPagePreloads(text)).toThrow('dashboard.folder has a preloads.json that is no list of pages')
})
