import { expect, test } from 'vitest'
import { toChargeText } from './chargeText.ts'

const nothing = { units: 0, free: [], weighted: 0, notifications: 0 }

test.each([
  ['the same', { total: 7, charged: { ...nothing, units: 7 } }, undefined],
  [
    'rejections',
    {
      total: 603,
      charged: {
        ...nothing,
        units: 601,
        free: [
          { outcome: 'rate_limited', total: 1 },
          { outcome: 'method_not_found', total: 1 },
        ],
      },
    },
    '603 requests, 601 charged to the limits: 2 were rejected before they reached a node.',
  ],
  [
    'all reasons',
    {
      total: 10,
      charged: {
        units: 62,
        free: [
          { outcome: 'rate_limited', total: 1 },
          { outcome: 'disconnected', total: 1 },
        ],
        weighted: 40,
        notifications: 14,
      },
    },
    '10 requests, 62 charged to the limits: 1 was rejected before it reached a node, 1 was sent to no node, methods that count as more than one request added 40, and notifications of subscriptions added 14.',
  ],
])('the difference of requests and charges, with %s', (_, metrics, text) => {
  expect(toChargeText(metrics)).toBe(text)
})
