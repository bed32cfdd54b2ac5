import { expect, test } from 'vitest'
import { findEmailProblems } from './findEmailProblems.ts'

test('finds addresses that look alike, and those that are not valid', () => {
  const emails = [
    'ann@example.org',
    'eve@fass.example',
    'root@127.0.0.1',
    'eve@xn--fa-hia.example',
    'adm\u{131}n@x.org',
  ]
  const accounts = emails.map((email, index) => ({ id: `usr_${index}`, email }))
  expect(findEmailProblems(accounts)).toEqual([
    { id: 'usr_1', email: 'eve@fass.example', problem: 'similar' },
    { id: 'usr_2', email: 'root@127.0.0.1', problem: 'invalid' },
    { id: 'usr_3', email: 'eve@xn--fa-hia.example', problem: 'similar' },
  ])
})
