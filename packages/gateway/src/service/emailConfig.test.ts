import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { getSecrets } from './getSecrets.ts'
import { readServiceConfig } from './readServiceConfig.ts'

const folder = mkdtempSync(join(tmpdir(), 'keyrail-email-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (smtp: object, environment: Record<string, string> = {}, from = 'Keyrail <keyrail@example.org>') => {
  const file = join(folder, 'keyrail.config.json')
  writeFileSync(
    file,
    JSON.stringify({
      publicUrl: 'https://rpc.example.org',
      networks: { 'ethereum-mainnet': { upstreams: [{ url: 'http://127.0.0.1:9' }] } },
      email: { smtp: { host: 'smtp.example.org', ...smtp }, from },
    }),
  )
  return readServiceConfig(file, { environment })
}

describe('the config of emails', () => {
  test('has safe defaults', () => {
    expect(read({}).email).toEqual({
      smtp: { host: 'smtp.example.org', port: 587, secure: 'starttls' },
      from: 'Keyrail <keyrail@example.org>',
    })
  })

  test('reads the password from a file or a variable, and hides it in logs', () => {
    writeFileSync(join(folder, 'password'), 'secret of a file\n')
    const fromFile = read({ user: 'keyrail', passwordFile: 'password' })
    expect(fromFile.email?.smtp).toMatchObject({ user: 'keyrail', password: 'secret of a file' })
    const fromVariable = read({ user: 'keyrail', passwordEnv: 'SMTP_PASSWORD' }, { SMTP_PASSWORD: 'of a variable' })
    expect(fromVariable.email?.smtp.password).toBe('of a variable')
    expect(getSecrets(fromFile, {})).toContain('secret of a file')
  })

  test.each([
    [{ user: 'keyrail' }, 'email.smtp must have user and exactly one of password, passwordEnv and passwordFile'],
    [{ password: 'hunter22' }, 'email.smtp must have user and exactly one of'],
    [{ user: 'keyrail', password: 'hunter22', passwordEnv: 'P' }, 'email.smtp must have user and exactly one of'],
    [{ user: 'keyrail', password: 'hunter22', secure: 'none' }, 'would send the password in plain text'],
    [{ user: 'keyrail', passwordEnv: 'NOT_SET' }, 'names the environment variable NOT_SET, which is not set'],
    [{ user: 'keyrail', passwordFile: 'missing' }, 'email.smtp.passwordFile names a file that cannot be read (ENOENT)'],
    [{ secure: true }, 'email.smtp.secure must be "starttls" or "tls" or "none"'],
  ])('rejects %j without repeating a password', (smtp, message) => {
    expect(() => read(smtp)).toThrow(message)
    expect(() => read(smtp)).not.toThrow('hunter22')
  })

  test.each(['Keyrail', 'keyrail@example.org, eve@example.org', 'Keyrail <a@b> <c@d>', 'a@b\r\nBcc: c@d'])(
    'rejects the sender %j',
    (from) => {
      expect(() => read({}, {}, from)).toThrow('email.from must be an email address')
    },
  )
})
