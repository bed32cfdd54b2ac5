import { z } from 'zod'

const error = 'must be 0, or a whole number from 2 to 10'
const confirmNodes = z
  .int({ error })
  .min(0, { error })
  .max(10, { error })
  .refine((nodes) => nodes !== 1, { error })
const confirmHeader = z.boolean()

/** What an app or API key asks for beyond the confirmed reads of its networks. */
export const confirmation = {
  confirmNodes: confirmNodes.describe(
    'How many independent nodes must agree on each read, on networks where callers may ask for it; 0: as the network says.',
  ),
  confirmHeader: confirmHeader.describe('Whether a single call may ask for more by the header `X-Keyrail-Confirm`.'),
}

/** Changes of `confirmation`. */
export const confirmationEdit = {
  confirmNodes: confirmNodes
    .exactOptional()
    .describe('0, or 2 to 10. On a network where callers may not ask for it, all calls are then rejected.'),
  confirmHeader: confirmHeader.exactOptional(),
}
