import { expect, test } from 'vitest'
import { getOwnCommands } from './getOwnCommands.ts'

test('returns the scripts of the workspace from source', () => {
  const { dev, command, where, program } = getOwnCommands(import.meta.url)
  expect(dev).toBe('npm start --')
  expect(command).toBe('bin/keyrail')
  expect(where).toContain('npm start')
  expect(program).toContain('node --env-file=.keyrail/local.env --conditions=@keyrail/source try.mjs')
})

test('returns the program name once built', () => {
  expect(getOwnCommands('file:///somewhere/dist/dev-ABC.js')).toEqual({
    dev: 'keyrail dev',
    command: 'keyrail',
    where: '',
  })
})
