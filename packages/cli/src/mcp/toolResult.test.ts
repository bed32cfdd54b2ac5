import { describe, expect, test } from 'vitest'
import { createToolResults } from './toolResult.ts'

const secret = 'aB3-secret_key9'
const results = createToolResults([secret])
const getText = (value: unknown): string => {
  const [content] = results.data('the chain', value).content
  return content?.type === 'text' ? content.text : ''
}

describe('createToolResults', () => {
  test.each([
    ['the secret', secret],
    ['a part of it', secret.slice(2, 12)],
    ['the secret with an invisible character inside', `${secret.slice(0, 4)}\u200B${secret.slice(4)}`],
    ['the secret in hex', Buffer.from(secret).toString('hex')],
    ['the secret in base64', Buffer.from(secret).toString('base64')],
    ['the secret behind escapes', encodeURIComponent(secret).replaceAll('-', '%2D')],
  ])('hides %s', (_what, shown) => {
    const text = getText({ shown: `before ${shown} after` })
    expect(text).toMatch(/"before …[^"]{0,2} after"/)
  })

  test('hides a secret and a key at the place where data is cut', () => {
    const key = `kr_a${'k3Y'.repeat(13)}`
    for (const hidden of [secret, key])
      for (let length = 19_960; length < 20_000; length += 1) {
        const text = getText('x'.repeat(length) + hidden + 'y'.repeat(100))
        expect(text).toContain('The data is cut after 20000 of')
        expect(text).not.toContain(hidden.slice(0, 8))
      }
  })

  test('leaves other text unchanged', () => {
    expect(getText({ network: 'ethereum-mainnet' })).toContain('"network": "ethereum-mainnet"')
    expect(results.text('no such key').content).toEqual([{ type: 'text', text: 'no such key' }])
  })
})
