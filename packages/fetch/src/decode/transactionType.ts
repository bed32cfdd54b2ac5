/**
 * What kind of transaction it is, by the EIP that brought it; `other` is one that this package does not know, as some chains have.
 * @see EIP-2718
 */
export type TransactionType = 'legacy' | 'eip2930' | 'eip1559' | 'eip4844' | 'eip7702' | 'other'
