"""web3.py's own tests of its modules. web3.py contains them, for tests of other nodes."""

from web3._utils.module_testing.eth_module import AsyncEthModuleTest, EthModuleTest
from web3._utils.module_testing.net_module import AsyncNetModuleTest, NetModuleTest
from web3._utils.module_testing.web3_module import AsyncWeb3ModuleTest, Web3ModuleTest

pytest_plugins = ["web3_fixtures"]


class TestEth(EthModuleTest):
    pass


class TestNet(NetModuleTest):
    pass


class TestWeb3(Web3ModuleTest):
    pass


class TestAsyncEth(AsyncEthModuleTest):
    pass


class TestAsyncNet(AsyncNetModuleTest):
    pass


class TestAsyncWeb3(AsyncWeb3ModuleTest):
    pass
