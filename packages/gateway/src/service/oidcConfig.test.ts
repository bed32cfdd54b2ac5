import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { getSecrets } from './getSecrets.ts'
import { readServiceConfig } from './readServiceConfig.ts'

const folder = mkdtempSync(join(tmpdir(), 'keyrail-oidc-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (members: object, environment: Record<string, string> = {}) => {
  const file = join(folder, 'keyrail.config.json')
  writeFileSync(
    file,
    JSON.stringify({
      publicUrl: 'https://rpc.example.org',
      networks: { 'ethereum-mainnet': { upstreams: [{ url: 'http://127.0.0.1:9' }] } },
      ...members,
    }),
  )
  return readServiceConfig(file, { environment })
}
const oidc = { issuer: 'https://id.example.org', clientId: 'keyrail', clientSecret: 'hunter22hunter22' }

describe('the config of single sign-on', () => {
  test('has defaults', () => {
    expect(read({ oidc })).toMatchObject({
      oidc: {
        ...oidc,
        scopes: ['openid', 'email'],
        label: 'single sign-on',
        trustEmail: false,
        groupsClaim: 'groups',
        groups: [],
      },
      passwordLogin: true,
    })
    expect(read({}).oidc).toBeUndefined()
  })

  test('reads the client secret from a file or a variable, and hides it in logs', () => {
    const { clientSecret: _, ...rest } = oidc
    writeFileSync(join(folder, 'client-secret'), 'secret of a file\n')
    const fromFile = read({ oidc: { ...rest, clientSecretFile: 'client-secret' } })
    expect(fromFile.oidc).toMatchObject({ clientSecret: 'secret of a file' })
    const fromVariable = read({ oidc: { ...rest, clientSecretEnv: 'OIDC_SECRET' } }, { OIDC_SECRET: 'of a variable' })
    expect(fromVariable.oidc?.clientSecret).toBe('of a variable')
    expect(getSecrets(fromFile, {})).toContain('secret of a file')
  })

  test.each([
    [{ issuer: 'http://id.example.org' }, 'oidc.issuer must be the https URL of the provider'],
    [{ issuer: 'https://ann:hunter22@id.example.org' }, 'oidc.issuer must be the https URL of the provider'],
    [{ issuer: 'https://id.example.org/.well-known/openid-configuration' }, 'must end before /.well-known/'],
    [{ clientSecretEnv: 'OIDC_SECRET' }, 'oidc must have exactly one of clientSecret, clientSecretEnv and'],
    [{ clientSecret: undefined }, 'oidc must have exactly one of clientSecret, clientSecretEnv and'],
    [
      { clientSecret: undefined, clientSecretEnv: 'NOT_SET' },
      'names the environment variable NOT_SET, which is not set',
    ],
    [{ clientSecret: undefined, clientSecretFile: 'missing' }, 'names a file that cannot be read (ENOENT)'],
    [{ scopes: ['email'] }, 'oidc.scopes must include "openid"'],
    [{ scopes: ['openid', 'two scopes'] }, 'must be a scope without spaces'],
    [{ groups: [{ group: 'ops', account: 'Acme', role: 'admin' }] }, 'oidc.groups[0].account must be the id of a team'],
    [
      { groups: [{ group: 'ops', account: `acc_${'0'.repeat(20)}`, role: 'boss' }] },
      'oidc.groups[0].role must be one of owner, admin, developer, viewer',
    ],
    [{ label: '' }, 'oidc.label must be the name of the provider'],
  ])('rejects %o without repeating a secret', (changed, message) => {
    expect(() => read({ oidc: { ...oidc, ...changed } })).toThrow(message)
    expect(() => read({ oidc: { ...oidc, ...changed } })).not.toThrow('hunter22')
  })

  test('rejects a config with which nobody could log in', () => {
    expect(() => read({ passwordLogin: false })).toThrow('passwordLogin is false, so nobody could log in')
    expect(read({ oidc, passwordLogin: false }).passwordLogin).toBe(false)
  })
})
