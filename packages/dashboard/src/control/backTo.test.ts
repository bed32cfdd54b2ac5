import { expect, test } from 'vitest'
import { backTo } from './backTo.ts'

test('leads back only to pages of the dashboard', () => {
  expect(backTo('/apps/app_1/metrics?range=hour#x')).toBe('/apps/app_1/metrics?range=hour#x')
  for (const other of ['https://a.example/', '//a.example', '/\\a.example', 'javascript:alert(1)', 'apps', '', 7]) {
    expect(backTo(other)).toBeUndefined()
  }
  for (const loop of ['/log-in', '/log-in?back=/log-in', '/sign-up', '/reset-password#link']) {
    expect(backTo(loop)).toBeUndefined()
  }
})
