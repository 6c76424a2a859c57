-- The recycle bin: an item is what one request deleted, its nodes are the rows that went with it.
CREATE TABLE IF NOT EXISTS recycled_items (
  id         BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
  plan_id    BIGINT       NOT NULL,
  kind       VARCHAR(8)   NOT NULL,
  node_id    BIGINT       NOT NULL,
  parent_id  BIGINT       NOT NULL,
  name       VARCHAR(255) NOT NULL,
  path       MEDIUMTEXT   NOT NULL,
  suites     BIGINT       NOT NULL,
  cases      BIGINT       NOT NULL,
  deleted_at DATETIME(6)  NOT NULL,
  KEY recycled_items_plan (plan_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE ${binary};

CREATE TABLE IF NOT EXISTS recycled_nodes (
  item_id BIGINT     NOT NULL,
  kind    VARCHAR(8) NOT NULL,
  node_id BIGINT     NOT NULL,
  PRIMARY KEY (item_id, kind, node_id),
  UNIQUE KEY recycled_nodes_node (kind, node_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE ${binary};
