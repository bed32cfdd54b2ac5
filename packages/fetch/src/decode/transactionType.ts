/**
 * The type of a transaction, named after the EIP that introduced it. `other` is a type that this package does not know, as some chains have.
 * @see EIP-2718
 */
export type TransactionType = 'legacy' | 'eip2930' | 'eip1559' | 'eip4844' | 'eip7702' | 'other'
