import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { controlTypesFile, generateControlTypes } from '../controlTypes.ts'

test('controlApi.d.ts is that of the routes and schemas: run npm run contract', async () => {
  expect(readFileSync(controlTypesFile, 'utf8')).toBe(await generateControlTypes())
})

test('controlApi.d.ts imports nothing, so that users of the package load no types of zod', () => {
  expect(readFileSync(controlTypesFile, 'utf8')).not.toMatch(/import|zod/)
})
