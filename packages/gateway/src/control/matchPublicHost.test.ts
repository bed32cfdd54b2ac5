import { expect, test } from 'vitest'
import { matchPublicHost } from './matchPublicHost.ts'

test('accepts the public host in any letter case, and no other', () => {
  const at = (publicUrl: string, host: string | null) => matchPublicHost(publicUrl, host)
  expect(at('https://node.example/keyrail', 'Node.Example')).toEqual({ origin: 'https://node.example', secure: true })
  expect(at('https://node.example', 'node.example:443')).toEqual({ origin: 'https://node.example', secure: true })
  expect(at('http://node.example:8080', 'node.example:8080')).toEqual({
    origin: 'http://node.example:8080',
    secure: false,
  })
  for (const host of [
    null,
    '',
    'other.example',
    'node.example:8080',
    'node.example.',
    'x@node.example',
    'a.node.example',
  ])
    expect(at('https://node.example', host)).toBeUndefined()
})

test('loopback names are interchangeable, but not with other hosts', () => {
  expect(matchPublicHost('http://127.0.0.1:8080', 'localhost:8080')).toEqual({
    origin: 'http://localhost:8080',
    secure: false,
  })
  expect(matchPublicHost('http://localhost:8080', '[::1]:8080')?.origin).toBe('http://[::1]:8080')
  for (const host of ['localhost:8081', 'localhost', '127.0.0.2:8080', 'node.example:8080'])
    expect(matchPublicHost('http://localhost:8080', host)).toBeUndefined()
  expect(matchPublicHost('https://node.example', 'localhost')).toBeUndefined()
})
