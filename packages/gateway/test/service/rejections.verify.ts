import { clusters } from './places.ts'
import { testRefusals } from './rejectionTests.ts'

for (const cluster of clusters) testRefusals(cluster)
