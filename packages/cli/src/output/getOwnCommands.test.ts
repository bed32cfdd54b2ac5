import { expect, test } from 'vitest'
import { getOwnCommands } from './getOwnCommands.ts'

test('from source, the scripts of the workspace stand in for the name', () => {
  const { dev, call, where, program } = getOwnCommands(import.meta.url)
  expect(dev).toBe('npm start --')
  expect(call).toMatch(/^npx node .*packages\/cli\/src\/main\.ts call$/)
  expect(where).toContain('npm start')
  expect(program).toContain('examples/latest-block-fetch')
})

test('once built, the program goes by its name', () => {
  expect(getOwnCommands('file:///somewhere/dist/dev-ABC.js')).toEqual({
    dev: 'keyrail dev',
    call: 'keyrail call',
    where: '',
  })
})
