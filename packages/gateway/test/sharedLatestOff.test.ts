import { expect, test } from 'vitest'
import { getEnteredFunctions } from './getEnteredFunctions.ts'

const folders = ['/proxy/upstream/latest/']

test('without the option, no code of shared reads runs', async () => {
  expect(await getEnteredFunctions(folders, {})).toEqual([])
  expect(await getEnteredFunctions(folders, { shareLatest: true })).toContain('getPlan')
})
