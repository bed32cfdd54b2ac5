import { clusters } from './places.ts'
import { testRefusals } from './refusalTests.ts'

for (const cluster of clusters) testRefusals(cluster)
