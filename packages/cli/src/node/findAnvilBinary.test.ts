import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { findAnvilBinary, getAnvilPackage } from './findAnvilBinary.ts'

describe('getAnvilPackage', () => {
  test.each([
    ['linux', 'x64', '@foundry-rs/anvil-linux-amd64'],
    ['linux', 'arm64', '@foundry-rs/anvil-linux-arm64'],
    ['darwin', 'x64', '@foundry-rs/anvil-darwin-amd64'],
    ['darwin', 'arm64', '@foundry-rs/anvil-darwin-arm64'],
    ['win32', 'x64', '@foundry-rs/anvil-win32-amd64'],
    ['win32', 'arm64', '@foundry-rs/anvil-win32-amd64'],
    ['freebsd', 'x64', undefined],
  ])('%s on %s', (platform, arch, name) => {
    expect(getAnvilPackage(platform, arch)).toBe(name)
  })
})

describe('findAnvilBinary', () => {
  test('finds the binary for this machine', () => {
    expect(existsSync(findAnvilBinary())).toBe(true)
  })

  test('names the missing package and the fix', () => {
    // The package of another platform is never installed here.
    const platform = process.platform === 'darwin' ? 'linux' : 'darwin'
    expect(() => findAnvilBinary({ platform, arch: 'arm64' })).toThrow(
      expect.objectContaining({
        message: `the embedded node's binary is missing: @foundry-rs/anvil-${platform}-arm64 is not installed`,
        hint: expect.stringMatching(/--include=optional.*container image does not include it/),
      }),
    )
  })

  test('rejects a platform without a build', () => {
    expect(() => findAnvilBinary({ platform: 'sunos', arch: 'x64' })).toThrow('no build for sunos-x64')
  })

  test('rejects a KEYRAIL_ANVIL that does not exist', () => {
    expect(() => findAnvilBinary({ platform: 'linux', arch: 'x64', own: '/nowhere/anvil' })).toThrow('KEYRAIL_ANVIL')
  })
})
