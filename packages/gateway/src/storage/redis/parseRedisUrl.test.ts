import { expect, test } from 'vitest'
import { parseRedisUrl } from './parseRedisUrl.ts'

test.each(['redis://host', 'redis://:p%40ss@host:6380/1?family=6', 'rediss://user:pa:ss@[::1]:6380/0', 'redis:///2'])(
  '%s is one server',
  (url) => {
    expect(parseRedisUrl(url)).toMatchObject({ kind: 'server', url })
  },
)

test('a cluster has several nodes, port 6379 by default', () => {
  expect(parseRedisUrl('redis+cluster://user:p%40:ss,w@one:7000,two,[::1]:7002/0')).toEqual({
    kind: 'cluster',
    isTls: false,
    username: 'user',
    password: 'p@:ss,w',
    nodes: [
      { host: 'one', port: 7000 },
      { host: 'two', port: 6379 },
      { host: '::1', port: 7002 },
    ],
  })
  expect(parseRedisUrl('REDISS+Cluster://one')).toEqual({
    kind: 'cluster',
    isTls: true,
    nodes: [{ host: 'one', port: 6379 }],
  })
})

test('Sentinel has several sentinels, port 26379 by default, and the name of the master', () => {
  expect(parseRedisUrl('rediss+sentinel://:secret@one,two:5000/mymaster/3')).toEqual({
    kind: 'sentinel',
    isTls: true,
    password: 'secret',
    sentinels: [
      { host: 'one', port: 26_379 },
      { host: 'two', port: 5000 },
    ],
    masterName: 'mymaster',
    database: 3,
  })
  expect(
    parseRedisUrl('redis+sentinel://one/my%20master?sentinel_username=watcher&sentinel_password=p%40ss'),
  ).toMatchObject({ masterName: 'my master', database: 0, sentinelUsername: 'watcher', sentinelPassword: 'p@ss' })
})

const cases: readonly (readonly [url: string, message: string])[] = [
  ['', 'must be a URL such as redis://'],
  ['topsecret', 'must be a URL such as redis://'],
  ['redis:topsecret', 'must be a URL such as redis://'],
  ['http://topsecret', 'must be a URL such as redis://'],
  ['redis+unknown://topsecret', 'must be a URL such as redis://'],
  ['redis://topsecret:99999', 'must be a URL such as redis://'],
  ['redis://:topsecret@one:6379,two:6379', 'has several hosts: write redis+cluster:// for a cluster'],
  ['redis://:topsecret%zz@one', 'has a % that is not part of an escape'],
  ['redis+cluster://:topsecret%zz@one', 'has a % that is not part of an escape'],
  ['redis+sentinel://one/topsecret%zz', 'has a % that is not part of an escape'],
  ['redis+cluster://:topsecret@one,,two', 'has a host that is not of the form host or host:port'],
  ['redis+cluster://:topsecret@one:70000', 'has a host that is not of the form host or host:port'],
  ['redis+cluster://', 'has a host that is not of the form host or host:port'],
  ['redis+cluster://:topsecret@one/1', 'has a database: a cluster only has database 0'],
  ['redis+cluster://one?topsecret=1', 'has parameters'],
  ['redis+sentinel://:topsecret@one', 'has no master name'],
  ['redis+sentinel://:topsecret@one/', 'has no master name'],
  ['redis+sentinel://one/mymaster/topsecret', 'has a path that is not of the form /mymaster or /mymaster/0'],
  ['redis+sentinel://one/mymaster/0/topsecret', 'has a path that is not of the form /mymaster or /mymaster/0'],
  ['redis+sentinel://one/mymaster?topsecret=1', 'has an unknown parameter'],
]
test.each(cases)('%s is rejected without repeating it', (url, message) => {
  const parse = (): unknown => parseRedisUrl(url)
  expect(parse).toThrow(TypeError)
  expect(parse).toThrow(`redisUrl ${message}`)
  expect(parse).not.toThrow('topsecret')
})
