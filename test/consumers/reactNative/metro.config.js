// The configuration of a React Native app, without what its screens need.
const { getDefaultConfig } = require('@react-native/metro-config')

const config = getDefaultConfig(__dirname)
module.exports = {
  ...config,
  resolver: { ...config.resolver, useWatchman: false },
  serializer: { ...config.serializer, getModulesRunBeforeMainModule: () => [], getPolyfills: () => [] },
}
