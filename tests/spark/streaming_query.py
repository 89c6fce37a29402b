"""A streaming query as a program of its own, to be killed: reads a topic folder into Parquet.

Arguments: the topic's folder, the folder for output and checkpoint, and `on` or `once`.
"""

import sys

from kafkalearn.spark.session import spark_session
from kafkalearn.spark.source import register

if __name__ == "__main__":
    folder, out, how = sys.argv[1:]
    spark = spark_session("local[2]", spark_sql_shuffle_partitions="1")
    register(spark)
    rows = (
        spark.readStream.format("kafkalearn")
        .option("topic", "orders")
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", 20)
        .load(folder)
    )
    query = rows.writeStream.format("parquet").option("checkpointLocation", f"{out}/checkpoint")
    query = query.trigger(availableNow=True) if how == "once" else query
    query.option("path", f"{out}/rows").start().awaitTermination()
    spark.stop()
