import io.reactivex.disposables.Disposable;
import java.math.BigInteger;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.web3j.abi.FunctionEncoder;
import org.web3j.abi.datatypes.Address;
import org.web3j.abi.datatypes.Function;
import org.web3j.abi.datatypes.generated.Uint256;
import org.web3j.crypto.Credentials;
import org.web3j.protocol.Web3j;
import org.web3j.protocol.core.BatchResponse;
import org.web3j.protocol.core.DefaultBlockParameter;
import org.web3j.protocol.core.DefaultBlockParameterName;
import org.web3j.protocol.core.methods.request.EthFilter;
import org.web3j.protocol.core.methods.response.EthLog.LogObject;
import org.web3j.protocol.core.methods.response.TransactionReceipt;
import org.web3j.protocol.http.HttpService;
import org.web3j.protocol.websocket.WebSocketService;
import org.web3j.tx.RawTransactionManager;
import org.web3j.tx.response.PollingTransactionReceiptProcessor;

/** Uses a service through web3j. Prints what it did, one word a line. */
public class Main {
  static void expect(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }

  public static void main(String[] arguments) {
    // Threads of the HTTP and WebSocket clients would keep the process running.
    try {
      run();
      System.exit(0);
    } catch (Throwable failure) {
      failure.printStackTrace();
      System.exit(1);
    }
  }

  static void run() throws Exception {
    String token = System.getenv("TOKEN");
    Web3j web3j = Web3j.build(new HttpService(System.getenv("URL")));
    Credentials sender = Credentials.create(System.getenv("PRIVATE_KEY"));
    long chainId = web3j.ethChainId().send().getChainId().longValue();

    BigInteger start = web3j.ethBlockNumber().send().getBlockNumber();
    expect(web3j.ethGetBlockByNumber(DefaultBlockParameterName.LATEST, true).send().getBlock().getNumber().compareTo(start) >= 0, "the block is too old");
    expect(web3j.ethGetCode(token, DefaultBlockParameterName.LATEST).send().getCode().length() > 2, "the token has no code");
    System.out.println("reads");

    // One id of sixteen must not start with a zero, which web3j drops.
    EthFilter logFilter = new EthFilter(DefaultBlockParameter.valueOf(start), DefaultBlockParameterName.LATEST, token);
    for (int index = 0; index < 64; index++) {
      BigInteger id = web3j.ethNewBlockFilter().send().getFilterId();
      expect(!web3j.ethGetFilterChanges(id).send().hasError(), "the filter was not found: " + id.toString(16));
      expect(web3j.ethUninstallFilter(id).send().isUninstalled(), "the filter was not removed: " + id.toString(16));
    }
    BigInteger logs = web3j.ethNewFilter(logFilter).send().getFilterId();
    System.out.println("filters");

    WebSocketService socket = new WebSocketService(System.getenv("WS_URL"), false);
    socket.connect();
    Web3j subscriber = Web3j.build(socket);
    CountDownLatch heads = new CountDownLatch(1);
    CountDownLatch events = new CountDownLatch(1);
    Disposable onHead = subscriber.newHeadsNotifications().subscribe(head -> heads.countDown());
    Disposable onLog = subscriber.logsNotifications(List.of(token), List.of()).subscribe(log -> events.countDown());
    // web3j does not say when a subscription has started; this call is behind both.
    subscriber.ethBlockNumber().send();

    String transfer = FunctionEncoder.encode(new Function("transfer", List.of(new Address("0x00000000000000000000000000000000000000be"), new Uint256(1)), List.of()));
    RawTransactionManager manager = new RawTransactionManager(web3j, sender, chainId);
    BigInteger gasPrice = web3j.ethGasPrice().send().getGasPrice().multiply(BigInteger.TWO);
    var sent = manager.sendTransaction(gasPrice, BigInteger.valueOf(200_000), token, transfer, BigInteger.ZERO);
    expect(!sent.hasError(), "the transaction was rejected");
    TransactionReceipt receipt = new PollingTransactionReceiptProcessor(web3j, 100, 200).waitForTransactionReceipt(sent.getTransactionHash());
    expect(receipt.isStatusOK() && receipt.getLogs().size() == 1, "the transfer failed");
    System.out.println("writes");

    expect(heads.await(30, TimeUnit.SECONDS), "no head");
    expect(events.await(30, TimeUnit.SECONDS), "no log");
    onHead.dispose();
    onLog.dispose();
    System.out.println("subscriptions");

    String hash = sent.getTransactionHash();
    expect(web3j.ethGetFilterChanges(logs).send().getLogs().stream().anyMatch(log -> ((LogObject) log.get()).getTransactionHash().equals(hash)), "the filter has no log");
    System.out.println("logs");

    BatchResponse batch = web3j.newBatch().add(web3j.ethBlockNumber()).add(web3j.ethGetBalance(token, DefaultBlockParameterName.LATEST)).add(web3j.ethChainId()).send();
    expect(batch.getResponses().stream().noneMatch(one -> one.hasError()) && batch.getResponses().size() == 3, "the batch");
    System.out.println("batches");

    socket.close();
    web3j.shutdown();
  }
}
