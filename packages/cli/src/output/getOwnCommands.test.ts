import { expect, test } from 'vitest'
import { getOwnCommands } from './getOwnCommands.ts'

test('returns the scripts of the workspace from source', () => {
  const { dev, call, where, program } = getOwnCommands(import.meta.url)
  expect(dev).toBe('npm start --')
  expect(call).toMatch(/^npx node .*packages\/cli\/src\/main\.ts call$/)
  expect(where).toContain('npm start')
  expect(program).toContain('examples/latest-block-fetch')
})

test('returns the program name once built', () => {
  expect(getOwnCommands('file:///somewhere/dist/dev-ABC.js')).toEqual({
    dev: 'keyrail dev',
    call: 'keyrail call',
    where: '',
  })
})
