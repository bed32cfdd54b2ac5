import { expect, test } from 'vitest'
import { getEnteredFunctions } from './getEnteredFunctions.ts'

const folders = ['/proxy/upstream/confirm/', '/core/src/confirm/']

test('without the option, no code of confirmed reads runs', async () => {
  expect(await getEnteredFunctions(folders, {})).toEqual([])
  expect(await getEnteredFunctions(folders, { confirm: [{ methods: ['eth_getBalance'] }] })).toContain('sendConfirmed')
})
