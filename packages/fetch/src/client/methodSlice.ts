// Written by `npm run methods` from methods.json of core. Do not edit it.

/** Methods that may leave out their block, by its position. */
export const optionalBlockMethods = {
  '1': 'eth_call createAccessList estimateGas getBalance getCode getStorageValues getTransactionCount simulateV1',
  '2': 'eth_getProof getStorageAt',
}
