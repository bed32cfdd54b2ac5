// Written by `npm run methods` from methods.json of core. Do not edit it.

/** Methods that may leave out their block, by its position. */
export const optionalBlockMethods = {
  '1': 'eth_call eth_createAccessList eth_estimateGas eth_getBalance eth_getCode eth_getStorageValues eth_getTransactionCount eth_simulateV1',
  '2': 'eth_getProof eth_getStorageAt',
}
